import { host } from '@tollgate/deploy/standalone/ports'
import { engineOf, type Engine, type EngineOptions } from './engine.ts'
import { requireProgram } from './programs.ts'
import { askRedis } from './redis-question.ts'
import { startServer } from './server.ts'

export async function startRedis(options: EngineOptions, port: number): Promise<Engine> {
  const server = await startServer(
    {
      engine: 'redis',
      name: 'redis',
      port,
      portVariable: 'TOLLGATE_ENGINES_REDIS_PORT',
      stopSignal: 'SIGTERM',
      isReady: () => answersPing(port),
      prepare: async (folder) => ({
        file: await requireProgram('redis-server', options.say),
        args: redisArguments(port, folder),
      }),
    },
    options,
  )
  return engineOf(`redis://${host}:${port}`, [server])
}

/** What hot state needs of a Redis: nothing is evicted, and a killed server keeps what it answered. */
export function redisArguments(port: number, folder: string): string[] {
  return settingsAsArguments({
    bind: host,
    port: String(port),
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'everysec',
    // The append-only file is the copy on disk; snapshots beside it would only cost.
    save: '',
    'maxmemory-policy': 'noeviction',
  })
}

export function settingsAsArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
}

/** Not while it still loads its file. */
export async function answersPing(port: number): Promise<boolean> {
  return (await askRedis(port, 'PING')).startsWith('+PONG')
}
