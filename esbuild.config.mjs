/**
 * How each function is bundled: minified ESM with a source map. `infra/bundle-functions.ts` adds the list of
 * functions, for the CDK app and for `npm run bundle`.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
export default /** @type {const} */ ({
  bundle: true,
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  // The licences' notices stand in a file beside the bundle, which Node need not read.
  legalComments: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // A Lambda function has its role's credentials in the environment. The SDK's code that searches for other credentials
  // (profiles, SSO, instance metadata) would be a fifth of the bundle.
  alias: { '@aws-sdk/credential-provider-node': './infra/lambda-credentials.ts' },
  // Some dependencies are CommonJS, and load Node's own modules with `require`.
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  },
});
