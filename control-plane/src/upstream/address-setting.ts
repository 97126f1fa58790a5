import type { Setting } from '@tollgate/platform/config/settings'
import { parseUrl } from '@tollgate/schemas/parse-url'
import { isLoopback } from './is-loopback.ts'

/** Setting for an `https` address without a trailing slash, or an `http` address of this machine. */
export function addressSetting(
  variable: string,
  description: string,
  defaultText: string,
): Setting<string> {
  const parse = (text: string): string => requireAddress(text).replace(/\/$/, '')
  return { variable, description, defaultText, parse }
}

/** Setting for an issuer of OpenID Connect, empty by default. A trailing slash stays, because it is part of an issuer's name. */
export function issuerSetting(variable: string, description: string): Setting<string> {
  const parse = (text: string): string => (text === '' ? '' : requireAddress(text))
  return { variable, description, defaultText: '', parse }
}

/** Setting for a domain name in lower case, empty by default. */
export function domainSetting(variable: string, description: string): Setting<string> {
  const parse = (text: string): string => {
    if (text === '' || /^[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(text)) return text.toLowerCase()
    throw new Error('must be a domain name, such as acme.com')
  }
  return { variable, description, defaultText: '', parse }
}

function requireAddress(text: string): string {
  const url = parseUrl(text)
  if (url === undefined || !(url.protocol === 'https:' || isLoopbackHttp(url))) {
    throw new Error('must be an address that begins with https://')
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new Error('must have no query, fragment or credentials')
  }
  return text
}

function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && isLoopback(url)
}
