import type { McpProxyConfig } from '../config.ts'

/** How long clients of the stateless versions may keep a list that the proxy has changed. Others must not get it from there. */
export function cachingOf({ listSeconds }: Pick<McpProxyConfig, 'listSeconds'>) {
  return { cacheScope: 'private', ttlMs: listSeconds * 1_000 } as const
}
