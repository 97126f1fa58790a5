import type { CreateHttpFront } from './http-front.ts'
import { NodeFront } from './node-front.ts'
import type { AcceptedBinary } from './uws-binary.ts'
import { UwsFront } from './uws-front.ts'
import { loadUws, UwsNotLoadableError } from './uws-load.ts'

export type FrontChoice = {
  readonly front: 'auto' | 'uws' | 'node'
  readonly uwsBinary: AcceptedBinary
}

export type ChosenFront = {
  readonly createFront: CreateHttpFront
  /** A line for the operator if the chosen front is slower than the one that this installation could have. */
  readonly notice: string | undefined
}

/**
 * Chooses the configured front. With 'auto', a platform on which the native binary does not load gets the front on node:http, with
 * a notice. A binary that is not the accepted one prevents the start in every configuration, since it may have been tampered with.
 */
export async function chooseFront(choice: FrontChoice): Promise<ChosenFront> {
  if (choice.front === 'node') return { createFront: createNodeFront, notice: undefined }
  try {
    const uws = await loadUws(choice.uwsBinary)
    return { createFront: (options) => new UwsFront(uws, options), notice: undefined }
  } catch (error) {
    if (choice.front === 'uws' || !(error instanceof UwsNotLoadableError)) throw error
    return { createFront: createNodeFront, notice: nodeFrontNotice(error) }
  }
}

/** Returns the notice for the log. Its figures are in docs/benchmarks.md, Versions of Node. */
export function nodeFrontNotice({ message, neededGlibc }: UwsNotLoadableError): string {
  const remedy =
    neededGlibc === undefined
      ? 'run on Linux with glibc, macOS or Windows, on a processor that uWebSockets.js has a binary for'
      : `run on a system with glibc ${neededGlibc} (Debian 13, Ubuntu 24.04, the image of the Dockerfile) or on Node 20`
  return `HTTP is served by node:http, because ${message}. A call costs ingest two to four times the processor time, and a bulk call of 100 events 1.1 to 1.2 times. For the native front, ${remedy}.`
}

const createNodeFront: CreateHttpFront = (options) => new NodeFront(options)
