import { parseAllowList } from '@tollgate/platform/outbound/allow-list'
import { GuardedHttp } from '@tollgate/platform/outbound/guarded-http'
import { hostOf } from '@tollgate/platform/outbound/judge-url'
import { createGithub } from './github.ts'
import { createOpenid, type OpenidIssuer } from './openid.ts'
import type { UpstreamConfig } from './upstream-settings.ts'
import type { Upstream, UpstreamName } from './upstream.ts'

/** The services at which the operator has registered this installation. */
export type Upstreams = {
  /** Where customers can sign in. */
  readonly configured: ReadonlyMap<UpstreamName, Upstream>
  /** Where users of the console can sign in. Undefined if they sign in with a password only. */
  readonly console: Upstream | undefined
  close(): Promise<void>
}

/** Maximum size of a response, which normally is a few kilobytes of JSON. */
const responseBytesMax = 262_144

const connectionsPerOriginMax = 32

export function createUpstreams(config: UpstreamConfig): Upstreams {
  const { googleIssuer, githubUrl, consoleOpenidIssuer, upstreamTimeoutMs: timeoutMs } = config
  // The operator configures these hosts, so they may be in a private network. Hosts named in an issuer's metadata may not.
  const hosts = [googleIssuer, githubUrl, consoleOpenidIssuer].flatMap((address) =>
    address === '' ? [] : hostOf(new URL(address)),
  )
  const http = new GuardedHttp({
    allowed: parseAllowList(hosts.join(',')),
    ports: [443],
    // Settings accept an address without TLS only for this machine.
    isPlainHttpAllowed: true,
    connectTimeoutMs: timeoutMs,
    timeoutMs,
    answerBytesMax: responseBytesMax,
    connectionsPerOriginMax,
  })
  const { fetch } = http
  const configured = new Map<UpstreamName, Upstream>()
  if (config.googleClientId !== '') configured.set('google', createOpenid(googleOf(config), fetch))
  if (config.githubClientId !== '') configured.set('github', createGithub(config, fetch))
  const console =
    consoleOpenidIssuer === '' ? undefined : createOpenid(consoleIssuerOf(config), fetch)
  return { configured, console, close: () => http.close() }
}

function googleOf(config: UpstreamConfig): OpenidIssuer {
  return {
    label: 'Google',
    issuer: config.googleIssuer,
    clientId: config.googleClientId,
    clientSecret: config.googleClientSecret,
    isAccountSelected: true,
    isEmailTrusted: false,
    domain: undefined,
  }
}

function consoleIssuerOf(config: UpstreamConfig): OpenidIssuer {
  return {
    label: config.consoleOpenidName,
    issuer: config.consoleOpenidIssuer,
    clientId: config.consoleOpenidClientId,
    clientSecret: config.consoleOpenidClientSecret,
    // Someone who is signed in at the company continues without a question.
    isAccountSelected: false,
    isEmailTrusted: config.consoleOpenidEmails === 'all',
    domain: config.consoleOpenidDomain || undefined,
  }
}
