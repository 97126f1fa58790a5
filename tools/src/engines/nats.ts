import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { host } from '@tollgate/deploy/standalone/ports'
import { engineOf, type Engine, type EngineOptions } from './engine.ts'
import { requireProgram } from './programs.ts'
import { startServer } from './server.ts'
import { requestOverTcp } from './probes.ts'

export async function startNats(options: EngineOptions, port: number): Promise<Engine> {
  const server = await startServer(
    {
      engine: 'nats',
      name: 'nats',
      port,
      portVariable: 'TOLLGATE_ENGINES_NATS_PORT',
      stopSignal: 'SIGTERM',
      isReady: () => natsAnswers(port),
      prepare: async (folder) => {
        const file = await requireProgram('nats-server', options.print)
        const configuration = join(folder, 'nats.conf')
        await writeFile(configuration, natsConfiguration(port, folder))
        return { file, args: ['--config', configuration] }
      },
    },
    options,
  )
  return engineOf(natsUrl(port), [server])
}

export function natsUrl(port: number): string {
  return `nats://${host}:${port}`
}

/**
 * Returns the configuration of NATS. Debian's default enables no JetStream. The store is limited, so that streams cannot fill the
 * disk.
 */
function natsConfiguration(port: number, folder: string): string {
  const quoted = (text: string): string => JSON.stringify(text)
  return `listen: ${quoted(`${host}:${port}`)}
server_name: tollgate-engines
jetstream {
  store_dir: ${quoted(join(folder, 'store'))}
  max_file_store: 10GB
  max_memory_store: 64MB
}
`
}

/**
 * Returns whether NATS is ready. The server sends its information to each new client, with `jetstream` after its store is
 * recovered.
 */
export async function natsAnswers(port: number): Promise<boolean> {
  const isComplete = (answer: Buffer): boolean => answer.includes('\r\n')
  const answer = await requestOverTcp(port, Buffer.alloc(0), isComplete)
  return answer !== undefined && /^INFO \{.*"jetstream":true/.test(answer.toString('utf8'))
}
