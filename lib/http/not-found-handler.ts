import { NotFound } from '../problems/problem.ts';
import type { FunctionDependencies } from './function-dependencies.ts';
import { problemChain } from './problem-chain.ts';

/**
 * Any path that no route has, and any method that a path does not take: 404, token or not. API Gateway's own answer
 * to a request with a bearer token is a 403 about AWS signatures.
 */
export const notFoundHandler = (dependencies: Pick<FunctionDependencies, 'config' | 'log' | 'metrics'>) =>
  problemChain(dependencies).handler(async () => {
    throw new NotFound();
  });
