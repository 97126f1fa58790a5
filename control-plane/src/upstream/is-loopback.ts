const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

export function isLoopback({ hostname }: URL): boolean {
  return loopbackHosts.has(hostname)
}
