import type { ReactElement } from 'react'
import type { Provider } from '@tollgate/domain/providers/repository'
import { ProviderPage, type ProviderFrame } from '../provider/provider-page.tsx'
import { ContinuationFields } from './continuation-fields.tsx'
import type { Continuation } from './continuation.ts'
import { FormPage } from './form-page.tsx'
import { ProviderSelect } from './provider-select.tsx'

export const openidPath = '/console/sign-in/openid'

type OpenidProps = {
  readonly frame: ProviderFrame
  readonly formToken: string
  readonly continuation: Continuation
  /** Name of the issuer. */
  readonly label: string
}

/** A form instead of a link, so that another site cannot start a sign-in for its visitor. */
export function OpenidForm(props: OpenidProps): ReactElement {
  const { frame, formToken, continuation, label } = props
  return (
    <form className="stack" method="post" action={frame.basePath + openidPath}>
      <input type="hidden" name="formToken" value={formToken} />
      <ContinuationFields of={continuation} />
      <p className="divider">or</p>
      <button className="button broad" type="submit">
        Continue with {label}
      </button>
    </form>
  )
}

/** Asks a user of several providers to choose one. The issuer then confirms the account again, so that nothing is stored meanwhile. */
export function ChooseProviderPage(
  props: OpenidProps & { readonly providers: readonly Provider[] },
): ReactElement {
  const { frame, formToken, continuation, label, providers } = props
  return (
    <FormPage
      frame={frame}
      title="Choose a provider"
      notice={undefined}
      path={openidPath}
      formToken={formToken}
    >
      <p className="quiet">You are a user of several providers.</p>
      <ContinuationFields of={continuation} />
      <ProviderSelect providers={providers} />
      <button className="button main" type="submit">
        Continue with {label}
      </button>
    </FormPage>
  )
}

/** The page before a redirect to the issuer. It also contains a button, in case the redirect does not happen. */
export function LeavingPage(props: {
  readonly frame: ProviderFrame
  readonly label: string
  readonly address: string
}): ReactElement {
  const { frame, label, address } = props
  const title = `Continue with ${label}`
  return (
    <ProviderPage frame={frame} title={title} narrow>
      <section className="card">
        <h1>{title}</h1>
        <p>You sign in there, and then come back.</p>
        <a className="button main" href={address}>
          {title}
        </a>
      </section>
    </ProviderPage>
  )
}
