import type { Logger } from '@tollgate/platform/observability/logger'
import type { CreateHttpFront } from './http-front.ts'
import { NodeFront } from './node-front.ts'
import type { AcceptedBinary } from './uws-binary.ts'
import { UwsFront } from './uws-front.ts'
import { loadUws, UwsNotLoadableError } from './uws-load.ts'

export type FrontChoice = {
  readonly front: 'auto' | 'uws' | 'node'
  readonly uwsBinary: AcceptedBinary
}

/**
 * The listener that is asked for. With 'auto' a platform without a native binary gets the plain one; a binary that is
 * there but not the accepted one stops the start whatever is asked for, since that is no matter of platform.
 */
export async function chooseFront(choice: FrontChoice, logger: Logger): Promise<CreateHttpFront> {
  if (choice.front === 'node') return createNodeFront
  try {
    const uws = await loadUws(choice.uwsBinary)
    return (options) => new UwsFront(uws, options)
  } catch (error) {
    if (choice.front === 'uws' || !(error instanceof UwsNotLoadableError)) throw error
    logger.warn(
      { err: error },
      'uWebSockets.js is not available here; listening with node:http, at a fraction of the speed',
    )
    return createNodeFront
  }
}

const createNodeFront: CreateHttpFront = (options) => new NodeFront(options)
