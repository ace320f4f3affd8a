import type { APIGatewayProxyEvent } from 'aws-lambda';

/** A header's values as one, as HTTP joins them; API Gateway leaves the names as the caller wrote them. */
export function requestHeader({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string | undefined {
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(([key, values]) =>
    key.toLowerCase() === name ? (values ?? []) : [],
  );
  return values.length > 0 ? values.join(', ') : undefined;
}
