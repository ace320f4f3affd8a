/** Replaces the SDK's search for credentials in the bundles: Lambda puts a role's credentials into the environment. */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
