import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

export type RedisServerOptions = {
  /** Working folder of the server; started in it again, it has what it wrote there. */
  readonly folder: string
  readonly port: number
  /** As in redis.conf. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Whether tests can start servers of their own. */
export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0

const startsWithinMs = 20_000

/** A redis-server of the test's own, to be killed and stopped at will. Loopback only. */
export class RedisServerProcess {
  readonly port: number
  readonly url: string
  readonly #child: ChildProcess

  /** Resolves when the server answers, its files loaded. */
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

  /** It still takes connections, as the system does that, and answers nothing. */
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
