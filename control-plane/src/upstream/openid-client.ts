import type * as openidClient from 'openid-client'
import type { Configuration, CustomFetch } from 'openid-client'
import type { GuardedFetch } from '@tollgate/platform/outbound/guarded-http'

export type OpenidClient = typeof openidClient

/** Loads the library at first use: it loads slowly, and most installations never need it. */
export function loadOpenidClient(): Promise<OpenidClient> {
  return import('openid-client')
}

/** Sends the library's requests through the guarded fetch, which accepts only text bodies. */
export function customFetchOf(fetch: GuardedFetch): CustomFetch {
  return (url, { body, headers, method, signal }) =>
    fetch(url, {
      method,
      headers,
      ...(signal && { signal }),
      ...(body !== undefined && body !== null && { body: textOf(body) }),
    })
}

function textOf(body: unknown): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return body.toString()
  throw new TypeError('only text is sent to an upstream')
}

/** Allows plain `http` for the address. Settings accept `http` only for addresses of this machine. */
export function allowPlainHttpOf(
  client: OpenidClient,
  address: string,
): ((configuration: Configuration) => void)[] {
  return new URL(address).protocol === 'http:' ? [client.allowInsecureRequests] : []
}
