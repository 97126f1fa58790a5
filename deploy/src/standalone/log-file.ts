import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

export type LogFile = {
  write(chunk: Uint8Array): void
  /** The last lines written since the launch, for the moment a service could not start. */
  tail(): string
  /** Forgets what an earlier launch wrote last. */
  startTail(): void
  close(): void
}

const tailBytes = 4_096

/**
 * Keeps at most two files of `bytesMax`: the current one and its predecessor (`.1`). What the disk does not take is
 * dropped, and counted in the file later: a full disk must not stop the service that logs. Written at once, since
 * the last words before a crash are those that count; a healthy service says little.
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
