/** What stands for a function's ARN on this machine. */
export const functionArn = (name: string): string => `arn:aws:lambda:local:000000000000:function:${name}`;
