import type { Observability } from '../observability/open-observability.ts'
import { createPrivateFiles } from './private-files.ts'
import type { Service } from './service.ts'

/** What a service tells when it is ready, to its parent process and to its log. */
export type ReadyMessage = Readonly<Record<string, unknown>> & {
  /** One line for the operator: something that works less well than it could. Logged as a warning. */
  readonly notice?: string | undefined
}

/**
 * Runs a service as this process: starts it, stops it on SIGINT, SIGTERM, or when the parent that holds the other end
 * of an IPC channel goes away, so that no orphan keeps a data folder open. Tells that parent once it is ready. Traces of
 * what was finished are sent before the end.
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
  // The parent may have gone before anything listened. Undefined: there never was one.
  if (process.connected === false) return await stop('parent gone')

  try {
    await service.start()
  } catch (error) {
    logger.fatal({ err: error }, 'could not start')
    process.exit(1)
  }
  const message = readyMessage()
  process.send?.({ ready: true, ...message })
  const { notice, ...ready } = message
  if (notice !== undefined) logger.warn(notice)
  logger.info(ready, 'ready')
}
