/**
 * Who is signed in: the token, kept until the browser's tab is closed.
 *
 * A token that expires does not throw the page away: `expired` asks for a new one over it, and what was typed stays.
 */
export const TOKEN_KEY = 'rootward.token'

export type SessionState = {
  token: string | null
  expired: boolean
  /** Grows with each sign-in: what failed for want of a token is read again. */
  generation: number
}

export class Session {
  private state: SessionState
  private readonly listeners = new Set<() => void>()

  constructor(private readonly storage: Storage) {
    this.state = { token: storage.getItem(TOKEN_KEY), expired: false, generation: 0 }
  }

  readonly token = (): string | null => this.state.token

  readonly snapshot = (): SessionState => this.state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  signIn(token: string): void {
    this.storage.setItem(TOKEN_KEY, token)
    this.change({ token, expired: false, generation: this.state.generation + 1 })
  }

  signOut(): void {
    this.storage.removeItem(TOKEN_KEY)
    this.change({ token: null, expired: false, generation: this.state.generation + 1 })
  }

  /** The server does not know the token any more. */
  expire(): void {
    if (this.state.token !== null && !this.state.expired) this.change({ ...this.state, expired: true })
  }

  private change(state: SessionState): void {
    this.state = state
    this.listeners.forEach((listener) => {
      listener()
    })
  }
}
