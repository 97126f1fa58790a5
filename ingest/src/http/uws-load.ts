import type * as uws from 'uWebSockets.js'
import { assertAcceptedBinary, uwsBinaryPath, type AcceptedBinary } from './uws-binary.ts'

export type UwsModule = typeof uws

/** The native listener cannot be loaded on this platform. The message is one line without a full stop. */
export class UwsNotLoadableError extends Error {
  override readonly name = 'UwsNotLoadableError'
  /** The version of glibc that the binary needs, if the only problem is that the system's version is older. */
  readonly neededGlibc: string | undefined

  constructor(message: string, options?: ErrorOptions & { readonly neededGlibc?: string }) {
    super(message, options)
    this.neededGlibc = options?.neededGlibc
  }
}

/**
 * Loads the native module after comparing its digest with the accepted one. Throws UwsNotLoadableError if no binary fits this
 * platform, and UwsBinaryRefusedError if the binary is not accepted.
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
    // The package is a CommonJS module without named exports for ESM: only the default import works at run time.
    const loaded = (await import('uWebSockets.js')) as unknown as { default: UwsModule }
    return loaded.default
  } catch (cause) {
    throw explainLoadError(cause)
  }
}

/** Extracts the reason from the text of the package, whose last line is the loader's error. */
export function explainLoadError(cause: unknown): UwsNotLoadableError {
  const text = String(cause).trim()
  const neededGlibc = /`GLIBC_([\d.]+)' not found/.exec(text)?.[1]
  if (neededGlibc === undefined) {
    const reason = text.slice(text.lastIndexOf('\n') + 1)
    return new UwsNotLoadableError(`uWebSockets.js did not load (${reason})`, { cause })
  }
  const major = process.versions.node.split('.')[0]
  return new UwsNotLoadableError(
    `the uWebSockets.js binary for Node ${major} needs glibc ${neededGlibc} or later`,
    { cause, neededGlibc },
  )
}
