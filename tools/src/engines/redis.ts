import { host } from '@tollgate/deploy/standalone/ports'
import { engineOf, type Engine, type EngineOptions } from './engine.ts'
import { requireProgram } from './programs.ts'
import { sendRedisCommand } from './redis-command.ts'
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
        file: await requireProgram('redis-server', options.print),
        args: redisArguments(port, folder),
      }),
    },
    options,
  )
  return engineOf(`redis://${host}:${port}`, [server])
}

/** Returns the settings that hot state needs: Redis evicts nothing, and a killed server keeps acknowledged writes. */
export function redisArguments(port: number, folder: string): string[] {
  return settingsAsArguments({
    bind: host,
    port: String(port),
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'everysec',
    // The append-only file is sufficient for durability, so snapshots are disabled.
    save: '',
    'maxmemory-policy': 'noeviction',
  })
}

export function settingsAsArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
}

/** Returns whether Redis is ready. It is not ready while it loads its file. */
export async function answersPing(port: number): Promise<boolean> {
  return (await sendRedisCommand(port, 'PING')).startsWith('+PONG')
}
