import type { ReactElement, ReactNode } from 'react'

type PostFormProps = {
  readonly page: { readonly path: string; readonly formToken: string }
  /** Under the page's own. */
  readonly path: string
  /** What follows from the fields is brought up to date by a script, in the parts of the form that are named. */
  readonly isUpdated?: boolean
  readonly children: ReactNode
}

/** Every form of a page that changes something is one of these. */
export function PostForm({ page, path, isUpdated = false, children }: PostFormProps): ReactElement {
  return (
    <form method="post" action={page.path + path} data-updated={isUpdated ? 'yes' : undefined}>
      <input type="hidden" name="formToken" value={page.formToken} />
      {children}
    </form>
  )
}
