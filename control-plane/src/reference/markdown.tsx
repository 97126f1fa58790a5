import { Marked } from 'marked'
import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { CodeBlock } from './code-block.tsx'

/** Angle brackets in these texts are placeholders, never HTML. */
const marked = new Marked({
  renderer: {
    html: ({ text }) => escapeHtml(text),
    code: ({ text, lang }) => renderToStaticMarkup(<CodeBlock name={lang ?? 'text'} code={text} />),
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slugOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`
    },
  },
})

export function InlineMarkdown({ text }: { readonly text: string }): ReactElement {
  return <span dangerouslySetInnerHTML={{ __html: marked.parseInline(text) as string }} />
}

export function Markdown({ text }: { readonly text: string }): ReactElement {
  return (
    <div className="prose" dangerouslySetInnerHTML={{ __html: marked.parse(text) as string }} />
  )
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function slugOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}
