import type { APIGatewayProxyEvent } from 'aws-lambda';

/**
 * A header's values, joined into one as in HTTP. The name is compared in lower case, because API Gateway keeps names as
 * the caller wrote them.
 */
export function requestHeader({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string | undefined {
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === name ? (values ?? []) : [],
  );
  return values.length > 0 ? values.join(', ') : undefined;
}
