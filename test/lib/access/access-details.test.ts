import { describe, expect, it } from 'vitest';
import { isContact, isTokenEndpoint } from '../../../lib/access/access-details.ts';

/** Texts that can be neither a token endpoint nor a contact: no valid HTTP URL, or a URL that could be misread. */
const NEVER = [
  '',
  'login.example/token',
  'ftp://login.example/token',
  'https://',
  'https://user:secret@login.example/token',
  'https://login.example/to ken',
  'https://login.example/$(id)',
  "https://login.example/'token'",
  'https://login.example/{tenant}',
  'https://login.example/token\n',
  'https://login.example:99999/token',
];

describe('a token endpoint', () => {
  it.each([
    'https://login.example/oauth2/token',
    'https://login.example:8443/tenant/oauth2/v2.0/token?api-version=1.0',
    'http://127.0.0.1:8080/token',
  ])('can be %s', (text) => {
    expect(isTokenEndpoint(text)).toBe(true);
  });

  it.each([...NEVER, 'https://login.example/token#part', 'ask@example.com'])('can not be %j', (text) => {
    expect(isTokenEndpoint(text)).toBe(false);
  });
});

describe('a contact', () => {
  it.each([
    'reports@example.com',
    'first.last+reports@mail.example.co.uk',
    'https://help.example/access#reports',
  ])('can be %s', (text) => {
    expect(isContact(text)).toBe(true);
  });

  it.each([
    ...NEVER,
    'http://help.example/access',
    'mailto:reports@example.com',
    'Reports <reports@example.com>',
    '@example.com',
    'a@example.com, b@example.com',
  ])('can not be %j', (text) => {
    expect(isContact(text)).toBe(false);
  });
});
