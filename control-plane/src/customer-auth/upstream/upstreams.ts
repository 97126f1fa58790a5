import { parseAllowList } from '@tollgate/platform/outbound/allow-list'
import { GuardedHttp } from '@tollgate/platform/outbound/guarded-http'
import { hostOf } from '@tollgate/platform/outbound/judge-url'
import { createGithub } from './github.ts'
import { createGoogle } from './google.ts'
import type { UpstreamConfig } from './upstream-settings.ts'
import type { Upstream, UpstreamName } from './upstream.ts'

/** The services at which the operator has registered this installation. */
export type Upstreams = {
  readonly configured: ReadonlyMap<UpstreamName, Upstream>
  close(): Promise<void>
}

/** Maximum size of a response, which normally is a few kilobytes of JSON. */
const responseBytesMax = 262_144

const connectionsPerOriginMax = 32

export function createUpstreams(config: UpstreamConfig): Upstreams {
  const { googleIssuer, githubUrl, upstreamTimeoutMs: timeoutMs } = config
  // The operator configures these two hosts, so they may be in a private network. Hosts named in Google's metadata may not.
  const hosts = [googleIssuer, githubUrl].map((address) => hostOf(new URL(address)))
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
  const configured = new Map<UpstreamName, Upstream>()
  if (config.googleClientId !== '') configured.set('google', createGoogle(config, http.fetch))
  if (config.githubClientId !== '') configured.set('github', createGithub(config, http.fetch))
  return { configured, close: () => http.close() }
}
