/**
 * How each function is bundled: minified ESM with a source map. `infra/bundle-functions.ts` adds which functions there
 * are, for the CDK app and for `npm run bundle`.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
export default /** @type {const} */ ({
  bundle: true,
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // A Lambda has its role's credentials in the environment. The SDK's search for others (profiles, SSO, instance
  // metadata) is a fifth of the bundle.
  alias: { '@aws-sdk/credential-provider-node': './infra/lambda-credentials.ts' },
  // Some dependencies are CommonJS and ask for Node's own modules by `require`.
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  },
});
