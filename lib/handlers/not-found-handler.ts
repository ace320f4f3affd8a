import { NotFound } from '../answers/problem.ts';
import type { FunctionParts } from './function-parts.ts';
import { problemChain } from './problem-chain.ts';

/**
 * Any path that no route has, and any method that a path does not take: 404, token or not. API Gateway's own answer
 * to a request with a bearer token is a 403 about AWS signatures.
 */
export const notFoundHandler = (parts: Pick<FunctionParts, 'config' | 'log' | 'metrics'>) =>
  problemChain(parts).handler(async () => {
    throw new NotFound();
  });
