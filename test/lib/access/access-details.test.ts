import { expect, it } from 'vitest';
import { isContact, isTokenEndpoint } from '../../../lib/access/access-details.ts';

const [NEITHER, ENDPOINT, CONTACT, BOTH] = ['neither', 'an endpoint', 'a contact', 'both'] as const;

it.each([
  ['https://login.example/oauth2/token', BOTH],
  ['https://login.example:8443/tenant/oauth2/v2.0/token?api-version=1.0', BOTH],
  ['http://127.0.0.1:8080/token', ENDPOINT],
  ['http://help.example/access', ENDPOINT],
  ['reports@example.com', CONTACT],
  ['first.last+reports@mail.example.co.uk', CONTACT],
  ['https://help.example/access#reports', CONTACT],
  ['mailto:reports@example.com', NEITHER],
  ['Reports <reports@example.com>', NEITHER],
  ['@example.com', NEITHER],
  ['a@example.com, b@example.com', NEITHER],
  // No valid URLs, or URLs that could be misread.
  ['', NEITHER],
  ['login.example/token', NEITHER],
  ['ftp://login.example/token', NEITHER],
  ['https://', NEITHER],
  ['https://user:secret@login.example/token', NEITHER],
  ['https://login.example/to ken', NEITHER],
  ['https://login.example/$(id)', NEITHER],
  ["https://login.example/'token'", NEITHER],
  // The page writes these texts into commands: no shell may read a part of them as a command.
  ['https://login.example/`id`', NEITHER],
  ['https://login.example/"token"', NEITHER],
  ['https://login.example/!token', NEITHER],
  ['a`id`@example.com', NEITHER],
  ['`id`@example.com', NEITHER],
  ['reports@example', NEITHER],
  ['https://login.example/{tenant}', NEITHER],
  ['https://login.example/token\n', NEITHER],
  ['https://login.example:99999/token', NEITHER],
])('%j can be a token endpoint or a contact: %s', (text, expected) => {
  const kinds = [NEITHER, ENDPOINT, CONTACT, BOTH];
  expect(kinds[Number(isTokenEndpoint(text)) + 2 * Number(isContact(text))]).toBe(expected);
});
