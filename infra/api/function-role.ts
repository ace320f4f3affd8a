import { Stack, Validations } from 'aws-cdk-lib';
import {
  type IRole,
  PolicyDocument,
  PolicyStatement,
  type PolicyStatementProps,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { Permission } from './permissions.ts';

/** Makes a function's role with these permissions only. CDK can't add others. */
export function makeFunctionRole(scope: Construct, id: string, permissions: readonly Permission[]): IRole {
  const role = new Role(scope, id, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    inlinePolicies: { permissions: new PolicyDocument({ statements: permissions.map(statement) }) },
  });
  for (const { resources, wildcard } of permissions) {
    if (!wildcard) continue;
    Validations.of(role).acknowledge(
      ...resources.map((resource) => ({
        id: `AwsSolutions-IAM5[Resource::${flat(Stack.of(role).resolve(resource))}]`,
        reason: wildcard,
      })),
    );
  }
  return role.withoutPolicyUpdates();
}

const statement = ({ sid, actions, resources, conditions }: Permission) =>
  new PolicyStatement({
    sid,
    actions: [...actions],
    resources: [...resources],
    ...(conditions && { conditions: conditions as NonNullable<PolicyStatementProps['conditions']> }),
  });

/** A CloudFormation value, in the form that `AwsSolutions-IAM5` uses in its findings. */
function flat(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const [[name, argument] = ['', '']] = Object.entries(value);
  if (name === 'Fn::Join') {
    const [separator, parts] = argument as [string, unknown[]];
    return parts.map(flat).join(separator);
  }
  if (name === 'Fn::ImportValue') return String(argument);
  if (name === 'Ref') return `<${argument}>`;
  return JSON.stringify(value);
}
