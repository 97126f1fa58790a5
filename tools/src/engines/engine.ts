/** What every engine's start function is told besides its ports. */
export type EngineOptions = {
  /** Holds one folder per server, and `logs`. Starting again on the same folder goes on with the same data. */
  readonly root: string
  /** Progress, one line at a time. */
  readonly say: (line: string) => void
  /** True ends the servers (SIGKILL) with this process, however that ends: for tests. Linux only. */
  readonly endsWithParent?: boolean
  /** True leaves out the compiler of Java that pays off after minutes: brokers are up sooner, for tests that kill them. */
  readonly isShortLived?: boolean
}

/** One process of an engine. */
export type RunningServer = {
  readonly name: string
  readonly pid: number
  readonly port: number
  readonly logPath: string
  stop(): Promise<void>
}

export type Engine = {
  /** As the Tollgate services and clients want it: `host:port`, a comma-separated list of those, or a URL. */
  readonly address: string
  /** One per process; `pid` and `stop()` of each are its own. */
  readonly servers: readonly RunningServer[]
  /** All servers of the engine. Safe to call twice, and when one was killed. */
  stop(): Promise<void>
}

export function engineOf(address: string, servers: readonly RunningServer[]): Engine {
  return {
    address,
    servers,
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  }
}
