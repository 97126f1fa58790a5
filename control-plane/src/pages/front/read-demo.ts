import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { findApiKeysBySha256 } from '@tollgate/domain/api-keys/repository'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { forwardedIgnoredHeader } from '@tollgate/schemas/http/forwarded'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Clock } from '@tollgate/platform/clock/clock'
import { isUsableKey } from '../../access/usable-key.ts'
import type { Caller } from '../../access/caller.ts'
import { demoFileSchema, type DemoFile } from './demo-file.ts'

export type DemoParts = {
  readonly publisher: PublisherParts
  readonly clock: Clock
  readonly logger: Logger
  readonly demoFile: string
}

/** The demo provider of a standalone installation. */
export type Demo = DemoFile & { readonly caller: Caller }

/**
 * Returns the demo provider if this installation has one and the browser runs on the same machine, otherwise undefined. A proxy in
 * front of the installation forwards a different client address. A foreign page whose domain name resolves to this machine sends a
 * different host name. Neither gets the key. After the key was revoked or has expired, the demo is undefined for every browser.
 */
export async function readDemo(
  pages: DemoParts,
  request: FastifyRequest,
): Promise<Demo | undefined> {
  if (pages.demoFile === '' || !isOfThisMachine(request)) return undefined
  const file = await readDemoFile(pages)
  if (file === undefined) return undefined
  const { control } = pages.publisher.database
  const sha256 = sha256OfSecretKey(file.sandboxKey)
  const key = (await findApiKeysBySha256(control, [sha256])).get(sha256)
  if (key?.environment !== 'sandbox' || !isUsableKey(key, pages.clock.now())) return undefined
  return { ...file, caller: { providerId: key.providerId, environment: 'sandbox' } }
}

/** Files for which the log already has a warning. */
const warnedFiles = new Set<string>()

/**
 * Returns undefined until the first start has written the file. If the file cannot be read, logs one warning and returns undefined.
 */
async function readDemoFile({
  demoFile: path,
  logger,
}: {
  readonly logger: Logger
  readonly demoFile: string
}): Promise<DemoFile | undefined> {
  try {
    const file = demoFileSchema.parse(JSON.parse(await readFile(path, 'utf8')))
    warnedFiles.delete(path)
    return file
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || warnedFiles.has(path))
      return undefined
    warnedFiles.add(path)
    // The error itself may quote the file, which contains a key.
    const reason = (error as NodeJS.ErrnoException).code ?? 'not the demo that `npm start` writes'
    logger.warn({ file: path, reason }, 'could not read the demo file; the page at / shows no demo')
    return undefined
  }
}

/** Headers that a proxy in front of ingest adds, whether or not the proxy is trusted. */
const proxyHeaders = [forwardedIgnoredHeader, 'forwarded', 'via', 'x-real-ip']

/**
 * Returns whether the client runs on this machine. Ingest forwards the host name of its client, and is itself reached under a
 * loopback name. A foreign page whose domain name resolves to this process can set any header except the host.
 */
export function isOfThisMachine({ ip, hostname, headers }: FastifyRequest): boolean {
  if (proxyHeaders.some((name) => headers[name] !== undefined)) return false
  const receivedBy = (headers.host ?? '').replace(/:\d*$/, '')
  return isLoopbackAddress(ip) && [hostname, receivedBy].every(isLoopbackName)
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || isLoopbackAddress(name)
}

function isLoopbackAddress(text: string): boolean {
  const bare = text.replace(/^\[|\]$/g, '').replace(/^::ffff:/i, '')
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
