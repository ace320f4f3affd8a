/** How a function of this machine is named where AWS would name it by its ARN. */
export const functionArn = (name: string): string => `arn:aws:lambda:local:000000000000:function:${name}`;
