import { getDocumentProxy } from 'unpdf'

export type ReadPdf = {
  readonly title: string
  readonly language: string
  /** The text of each page in reading order, one line for each piece. */
  readonly pages: readonly string[]
  /** Names of the tags of all pages, such as `H1` or `TH`. */
  readonly tags: readonly string[]
}

type Node = { readonly role?: string; readonly children?: readonly Node[] }

/** The types of unpdf import those of pdfjs-dist, which is not installed. */
const open = getDocumentProxy as unknown as (pdf: Uint8Array) => Promise<{
  readonly numPages: number
  getMetadata(): Promise<{ readonly info: Readonly<Record<string, string>> }>
  getPage(number: number): Promise<{
    getTextContent(): Promise<{ readonly items: readonly { readonly str?: string }[] }>
    getStructTree(): Promise<Node>
  }>
  destroy(): Promise<void>
}>

/** Reads the texts and tags of a PDF, as a PDF reader does. */
export async function readPdf(pdf: Buffer): Promise<ReadPdf> {
  const document = await open(new Uint8Array(pdf))
  const { info } = await document.getMetadata()
  const pages: string[] = []
  const tags: string[] = []
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const texts = items.flatMap((item) =>
      'str' in item && item.str.trim() !== '' ? [item.str] : [],
    )
    pages.push(texts.join('\n'))
    tags.push(...rolesOf(await page.getStructTree()))
  }
  await document.destroy()
  return { title: info['Title']!, language: info['Language']!, pages, tags }
}

function rolesOf({ role, children = [] }: Node): string[] {
  return [...(role === undefined ? [] : [role]), ...children.flatMap(rolesOf)]
}
