// A block of a module as both ways of writing one hand it on, and the error that says why a text is no module.

export interface Block {
  readonly type: string
  readonly name: string | undefined // its first label; undefined: there is none, or it is not known yet
  place(): string
  readonly arguments: ReadonlyMap<string, string> // as they are written; text in JSON without its quotes
  readonly blocks: readonly Block[]
}

export interface ReadModule {
  readonly blocks: readonly Block[]
  readonly mayDeclareMore: boolean // a placeholder stands where the name of a variable or output may come to stand
}

export class ModuleSyntaxError extends Error {}

// A name that is not known yet: it holds a placeholder such as ${cluster}, which is filled in before Terraform sees the
// module. One with an escape is as good as unknown: nobody writes it.
export function isVagueName(text: string): boolean {
  return /[$%]\{|\\/.test(text)
}
