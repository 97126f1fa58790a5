import type { ReactElement, ReactNode } from 'react'

type PostFormProps = {
  readonly page: { readonly path: string; readonly formToken: string }
  /** Under the page's own. */
  readonly path: string
  readonly children: ReactNode
}

/** Every form of a page that changes something is one of these. */
export function PostForm({ page, path, children }: PostFormProps): ReactElement {
  return (
    <form method="post" action={page.path + path}>
      <input type="hidden" name="formToken" value={page.formToken} />
      {children}
    </form>
  )
}
