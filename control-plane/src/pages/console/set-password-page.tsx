import type { ReactElement } from 'react'
import { passwordCharsMax, passwordCharsMin } from '@tollgate/schemas/limits'
import type { Notice } from '../notice.tsx'
import type { ProviderFrame } from '../provider/provider-page.tsx'
import { FormPage } from './form-page.tsx'

type SetPasswordPageProps = {
  readonly frame: ProviderFrame
  readonly formToken: string
  readonly notice?: Notice | undefined
  /** The link, or the token in it, as the form contained it. */
  readonly link?: string | undefined
}

export const setPasswordPath = '/console/set-password'

/**
 * The token is in the fragment of the link, which browsers never send to a server. A script copies it into the form. Without
 * scripts the visitor pastes the link.
 */
export function SetPasswordPage(props: SetPasswordPageProps): ReactElement {
  const { frame, formToken, notice, link = '' } = props
  const length = { minLength: passwordCharsMin, maxLength: passwordCharsMax }
  return (
    <FormPage
      frame={frame}
      title="Set your password"
      notice={notice}
      path={setPasswordPath}
      formToken={formToken}
    >
      <label data-filled-by-script={link === '' ? 'yes' : undefined} hidden={link !== ''}>
        The link that you got
        <input name="link" required autoComplete="off" spellCheck={false} defaultValue={link} />
      </label>
      <label>
        New password
        <input
          name="password"
          type="password"
          required
          {...length}
          autoComplete="new-password"
          aria-describedby="rule"
        />
      </label>
      <p className="quiet small" id="rule">
        At least {passwordCharsMin} characters. Other sign-ins of yours end.
      </p>
      <label>
        The same password again
        <input name="repeated" type="password" required {...length} autoComplete="new-password" />
      </label>
      <button className="button main" type="submit">
        Set password
      </button>
    </FormPage>
  )
}
