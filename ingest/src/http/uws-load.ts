import type * as uws from 'uWebSockets.js'
import { assertAcceptedBinary, uwsBinaryPath, type AcceptedBinary } from './uws-binary.ts'

export type UwsModule = typeof uws

/** Why this platform runs without the native listener. */
export class UwsNotLoadableError extends Error {
  override readonly name = 'UwsNotLoadableError'
}

/**
 * Loads the native module after looking at its file. Throws UwsNotLoadableError where there is no binary that fits
 * this platform, and UwsBinaryRefusedError where there is one that is not accepted.
 */
export async function loadUws(accepted: AcceptedBinary): Promise<UwsModule> {
  const path = uwsBinaryPath()
  if (path === undefined) {
    throw new UwsNotLoadableError(
      `uWebSockets.js has no binary for ${process.platform} ${process.arch} and Node ${process.version}`,
    )
  }
  assertAcceptedBinary(path, accepted)
  try {
    // A CommonJS module without named exports for ESM: only the default import works at run time.
    const loaded = (await import('uWebSockets.js')) as unknown as { default: UwsModule }
    return loaded.default
  } catch (cause) {
    throw new UwsNotLoadableError('uWebSockets.js did not load', { cause })
  }
}
