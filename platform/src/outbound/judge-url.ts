import { parseUrl } from '@tollgate/schemas/parse-url'
import { isIP } from 'node:net'
import { isHostAllowed, type AllowList } from './allow-list.ts'
import { isPublicAddress } from './public-address.ts'

export type UrlRules = {
  readonly allowed: AllowList
  /** Ports that may be reached on hosts that are not in the allow list. */
  readonly ports: readonly number[]
  /** Whether hosts in the allow list may be reached without TLS. */
  readonly isPlainHttpAllowed: boolean
}

export type UrlJudgement =
  | { readonly kind: 'accepted'; readonly url: URL }
  /** `reason` completes "The address ...". */
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Checks a URL without looking up its name, so that an invalid one can be reported when it is entered. Every request checks its URL
 * again, and the addresses behind the name when it connects.
 */
export function judgeUrl(text: string, rules: UrlRules): UrlJudgement {
  // The URL parser removes these characters, so the requested URL would differ from the one that people read.
  if (/[\s\p{Cc}]/u.test(text)) return refused('must not contain spaces')
  const url = parseUrl(text)
  if (url === undefined) return refused('is not a URL')
  if (!/^https?:\/\//i.test(text)) return refused('must begin with https://')
  if (url.username !== '' || url.password !== '') return refused('must not contain credentials')
  const host = hostOf(url)
  const isAllowed = isHostAllowed(rules.allowed, host)
  if (url.protocol !== 'https:') {
    const mayBePlain = url.protocol === 'http:' && isAllowed && rules.isPlainHttpAllowed
    if (!mayBePlain) return refused('must begin with https://')
  }
  if (isAllowed) return { kind: 'accepted', url }
  if (!rules.ports.includes(portOf(url))) {
    return refused(`must use port ${rules.ports.join(' or ')}`)
  }
  if (isIP(host) === 0 ? isLocalName(host) : !isPublicAddress(host)) {
    return refused('is not a public address')
  }
  return { kind: 'accepted', url }
}

/** Returns the host of a URL, an IPv6 address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/** Returns whether the name is reserved for local use (RFC 6761, RFC 6762, RFC 8375), with or without a trailing dot. */
function isLocalName(host: string): boolean {
  const name = host.replace(/\.$/, '')
  return name === 'localhost' || /\.(localhost|local|internal|home\.arpa)$/.test(name)
}

function refused(reason: string): UrlJudgement {
  return { kind: 'refused', reason }
}
