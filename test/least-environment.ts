/** The smallest environment that a function starts with: the variables that have no default. */
export const LEAST_ENVIRONMENT = {
  TOKEN_ISSUER: 'https://issuer.example',
  TOKEN_JWKS_URI: 'https://issuer.example/keys',
  API_SCOPE: 'api://reports',
  ENTITLEMENTS: 'none',
  ATHENA_DATABASE: 'reports',
  ATHENA_WORKGROUP: 'reports',
  RESULTS_BUCKET: 'results',
};
