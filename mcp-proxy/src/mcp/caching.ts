import type { McpProxyConfig } from '../config.ts'

/**
 * Returns how long stateless clients may cache a list that the proxy has changed. The list is private: a shared cache must not
 * return it to other clients.
 */
export function cachingOf({ listSeconds }: Pick<McpProxyConfig, 'listSeconds'>) {
  return { cacheScope: 'private', ttlMs: listSeconds * 1_000 } as const
}
