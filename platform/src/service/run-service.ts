import type { Observability } from '../observability/open-observability.ts'
import { createPrivateFiles } from './private-files.ts'
import type { Service } from './service.ts'

/** Message of a service that is ready, for its parent process and its log. */
export type ReadyMessage = Readonly<Record<string, unknown>> & {
  /** Warning for the operator about a degraded feature. It is logged as a warning. */
  readonly notice?: string | undefined
}

/**
 * Runs a service as this process. Stops it on SIGINT, on SIGTERM, or when the parent process at the other end of an IPC channel has
 * gone, so that no orphan keeps a data folder open. Reports to that parent when the service is ready, or why it could not start. Finished traces are sent
 * before the process ends.
 */
export async function runService(
  service: Service,
  { logger, tracing }: Observability,
  readyMessage: () => ReadyMessage = () => ({}),
): Promise<void> {
  createPrivateFiles()
  let isStopping = false
  const stop = async (cause: string): Promise<void> => {
    if (isStopping) return
    isStopping = true
    logger.info({ cause }, 'stopping')
    try {
      await service.stop()
      await tracing?.close()
      process.exit(0)
    } catch (error) {
      logger.error({ err: error }, 'could not stop cleanly')
      process.exit(1)
    }
  }
  process.on('SIGINT', () => void stop('SIGINT'))
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('disconnect', () => void stop('parent gone'))
  // The parent may have gone before the listener was set. Undefined means that there was none.
  if (process.connected === false) return await stop('parent gone')

  try {
    await service.start()
  } catch (error) {
    logger.fatal({ err: error }, 'could not start')
    await tellParent({ problem: error instanceof Error ? error.message : String(error) })
    process.exit(1)
  }
  const message = readyMessage()
  process.send?.({ ready: true, ...message })
  const { notice, ...ready } = message
  if (notice !== undefined) logger.warn(notice)
  logger.info(ready, 'ready')
}

/** Resolves when the message was handed over. The end of a process discards messages that were not. */
function tellParent(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) return resolve()
    process.send(message, undefined, {}, () => resolve())
  })
}
