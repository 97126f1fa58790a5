/** Options of every engine's start function, in addition to its ports. */
export type EngineOptions = {
  /** Folder with one subfolder per server, and `logs`. A start on an existing folder continues with its data. */
  readonly root: string
  /** Called with one line of progress at a time. */
  readonly print: (line: string) => void
  /** If true, the servers are killed (SIGKILL) when this process ends for any reason. For tests, on Linux only. */
  readonly endsWithParent?: boolean
  /**
   * If true, Java runs without its optimizing compiler, which only pays off after minutes. Brokers then start sooner, and are
   * noticed as dead sooner, for tests that kill them.
   */
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
  /** Address for services and clients: `host:port`, a comma-separated list of these, or a URL. */
  readonly address: string
  /** One entry per process. */
  readonly servers: readonly RunningServer[]
  /** Stops all servers of the engine. It may be called twice, and after a server was killed. */
  stop(): Promise<void>
}

export function engineOf(address: string, servers: readonly RunningServer[]): Engine {
  return {
    address,
    servers,
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  }
}
