import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

export type LogFile = {
  write(chunk: Uint8Array): void
  /** Returns the last bytes written since `startTail`, to explain a failed start. */
  tail(): string
  /** Clears the tail, so that it contains no lines of an earlier launch. */
  startTail(): void
  close(): void
}

const tailBytes = 4_096

/**
 * Opens a log of at most 2 files of `bytesMax` each: the current one and its predecessor (`.1`). Bytes that cannot be written are
 * dropped, and their number is logged later, because a full disk must not stop the service. Writes are synchronous, because the
 * last lines before a crash matter most and a healthy service logs little.
 */
export function openLogFile(path: string, bytesMax: number): LogFile {
  let file: number | undefined
  let size = 0
  let droppedBytes = 0
  let tail = Buffer.alloc(0)

  function close(): void {
    if (file !== undefined) closeSync(file)
    file = undefined
  }

  function append(bytes: Uint8Array): void {
    if (file !== undefined && size + bytes.length > bytesMax) {
      close()
      renameSync(path, `${path}.1`)
    }
    if (file === undefined) {
      file = openSync(path, 'a')
      size = statSync(path).size
    }
    size += writeSync(file, bytes)
  }

  return {
    write(chunk) {
      tail = Buffer.concat([tail, chunk]).subarray(-tailBytes)
      try {
        if (droppedBytes > 0) append(Buffer.from(`{"msg":"log dropped","bytes":${droppedBytes}}\n`))
        droppedBytes = 0
        append(chunk)
      } catch {
        droppedBytes += chunk.length
      }
    },
    tail: () => tail.toString('utf8'),
    startTail: () => void (tail = Buffer.alloc(0)),
    close,
  }
}
