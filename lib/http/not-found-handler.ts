import { NotFound } from '../problems/problem.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { problemChain } from './problem-chain.ts';

/**
 * Answers 404 for any path that no route has, and for any method that a path does not accept, with or without a token.
 * API Gateway's own answer to such a request with a bearer token would be a 403 about AWS signatures.
 */
export const notFoundHandler = (dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) =>
  problemChain(dependencies).handler(async () => {
    throw new NotFound();
  });
