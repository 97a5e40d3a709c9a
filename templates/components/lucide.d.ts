// The package types only its whole index, which loads every icon; single files have no declaration of their own.
declare module "lucide-static/dist/esm/icons/*.mjs" {
  const svg: string;
  export = svg;
}
