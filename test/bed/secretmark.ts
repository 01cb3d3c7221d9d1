// How every token of an administrator on the bed begins: so it is found wherever it does not belong.
export const secretMark = 'token-that-nobody-may-see-'
