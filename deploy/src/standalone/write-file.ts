import { open, rename } from 'node:fs/promises'

/** Replaces a file as one step: after a crash it holds the old content or the new one, never a part. */
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
