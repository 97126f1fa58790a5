import { open, rename } from 'node:fs/promises'

/** Replaces a file atomically: after a crash it contains either the old or the new content. */
export async function writeFileDurably(path: string, content: string, mode: number): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
