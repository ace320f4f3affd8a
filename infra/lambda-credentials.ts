/** Takes the place of the SDK's search for credentials in the bundles: a Lambda finds its role's in the environment. */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
