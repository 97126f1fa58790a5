import type { ReactElement, ReactNode } from 'react'
import { NoticeLine, type Notice } from '../notice.tsx'
import { ProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'

type FormPageProps = {
  readonly frame: ProviderFrame
  readonly title: string
  readonly notice: Notice | undefined
  /** Path to which the form is sent, below the base path. */
  readonly path: string
  readonly formToken: string
  readonly children: ReactNode
  /** Another form on the same page. */
  readonly below?: ReactNode
}

/** A page that consists of one form, and of another one for a second way to the same end. */
export function FormPage(props: FormPageProps): ReactElement {
  const { frame, title, notice, path, formToken, children, below } = props
  return (
    <ProviderPage frame={frame} title={title} narrow>
      <NoticeLine notice={notice} />
      <section className="card">
        <form className="stack" method="post" action={frame.basePath + path}>
          <h1>{title}</h1>
          <input type="hidden" name="formToken" value={formToken} />
          {children}
        </form>
        {below}
      </section>
    </ProviderPage>
  )
}
