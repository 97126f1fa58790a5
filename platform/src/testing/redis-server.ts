import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

export type RedisServerOptions = {
  /** Working folder of the server. A server that is started in it again has its data. */
  readonly folder: string
  readonly port: number
  /** Settings as in redis.conf. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Whether tests can start their own servers. */
export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0

const startsWithinMs = 20_000

/** A redis-server for one test that may be killed and stopped. It listens on loopback only. */
export class RedisServerProcess {
  readonly port: number
  readonly url: string
  readonly #child: ChildProcess

  /** Starts a server, and resolves when it has loaded its files and answers. */
  static async start(options: RedisServerOptions): Promise<RedisServerProcess> {
    const settings = { save: '', bind: '127.0.0.1', port: `${options.port}`, ...options.settings }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
    const child = spawn('redis-server', args, { cwd: options.folder, stdio: 'ignore' })
    const server = new RedisServerProcess(options.port, child)
    for (let waitedMs = 0; !(await server.#answers()); waitedMs += 20) {
      if (child.exitCode !== null || waitedMs > startsWithinMs) {
        throw new Error(`redis-server does not answer; its exit code is ${child.exitCode}`)
      }
      await sleep(20)
    }
    return server
  }

  private constructor(port: number, child: ChildProcess) {
    this.port = port
    this.url = `redis://127.0.0.1:${port}`
    this.#child = child
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  /** Suspends the server: the system still accepts connections, but it does not answer. */
  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  async call(command: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return await client.call(command, ...args)
    } finally {
      client.disconnect()
    }
  }

  async #answers(): Promise<boolean> {
    return await this.call('PING').then(
      () => true,
      () => false,
    )
  }
}
