import { expect } from 'vitest';
import { resourceNames } from '../../infra/resource-names.ts';
import type { Service } from '../e2e/service.ts';
import type { Lane } from './lane.ts';
import { operator } from './operator.ts';

export type Statement = Readonly<Record<string, unknown>>;

/** A policy as AWS has it, and the parameters by which the AWS CLI finds it. */
interface Policy {
  readonly names: readonly string[];
  readonly document: { readonly Statement: readonly Statement[] };
}

/** The deployed functions of a lane's stage, with the policies of their roles. */
export function deployedFunctions(lane: Lane) {
  const { aws, json } = operator(lane);
  const { functionName } = resourceNames(lane.stage);
  const policies = new Map<string, Promise<Policy>>();
  const policyOf = async (name: string): Promise<Policy> => {
    const { Configuration } = await json('lambda get-function --function-name', functionName(name));
    const names = ['--role-name', Configuration.Role.split('/').at(-1), '--policy-name', 'permissions'];
    return { names, document: (await json('iam get-role-policy', ...names)).PolicyDocument };
  };
  return {
    /** Changes the statements of a function's role, or leaves them out. Resolves to a function that puts them back. */
    async regrant(
      name: string,
      change: (statement: Statement) => Statement | readonly [],
    ): Promise<() => Promise<void>> {
      const reading = policies.get(name) ?? policyOf(name);
      policies.set(name, reading);
      const { names, document } = await reading;
      const put = async (Statement: readonly unknown[]) => {
        const policy = JSON.stringify({ ...document, Statement });
        await aws('iam', 'put-role-policy', ...names, '--policy-document', policy);
      };
      const changed = document.Statement.flatMap<unknown>(change);
      expect(changed).not.toEqual(document.Statement);
      await put(changed);
      return () => put(document.Statement);
    },
    /** Invokes a function once with an event. Resolves to whether it succeeded. */
    async invoke(name: string, event: object): Promise<boolean> {
      const target = ['--function-name', functionName(name), '--payload', JSON.stringify(event)];
      return !(await aws('lambda', 'invoke', ...target, '/dev/null')).includes('FunctionError');
    },
  };
}

/** A first response, and those to which its redirects lead, each with its URL. The token is not sent along. */
export async function* responsesFrom({ stack }: Service, first: Response) {
  let response = first;
  for (let url = `${stack.apiUrl}/`; ; response = await fetch(url, { redirect: 'manual' })) {
    yield { url, response };
    if (response.status !== 303) return;
    url = new URL(response.headers.get('location') ?? '', url).href;
  }
}
