# SPDX-License-Identifier: BSD-3-Clause
# What docs/differences.md says of rpart, printed: Rscript rpart_differences.R > rpart_differences.txt
library(rpart)
cat(R.version.string, "with rpart", as.character(packageVersion("rpart")), "\n")

cat("\nCosts of mistakes in cross-validation\n")
rows <- data.frame(x = rep(1:2, each = 20), y = factor(rep(c("a", "b", "a", "b"), c(12, 8, 4, 16))))
loss <- matrix(c(0, 1, 3, 0), 2) # loss[true, predicted]: an a that is called b costs 3
folds <- rep(1:4, 10)
fit <- rpart(y ~ x, rows, parms = list(loss = loss),
             control = rpart.control(cp = 0, minsplit = 2, minbucket = 1, xval = folds))
print(fit)
print(fit$cptable[, c("nsplit", "rel error", "xerror")])

cat("\nSurrogates that agree with the split but for some rows\n")
x <- rep(1:2, each = 20)
y <- factor(x)
for (n_other in 0:3) {
  s <- ifelse(seq_along(x) <= n_other, 2, x)
  for (kind in c("number", "category")) {
    table <- data.frame(y = y, x = x, s = if (kind == "number") s else factor(s))
    fit <- rpart(y ~ x + s, table, cost = c(1, 2),
                 control = rpart.control(cp = 0, minsplit = 2, minbucket = 1, xval = 0, maxcompete = 0))
    found <- if (nrow(fit$splits) > 1) fit$splits[2, "adj"] else "none"
    cat(n_other, kind, found, "\n")
  }
}

cat("\nThe price at which five splits go together\n")
rows <- data.frame(x = 1:7, y = factor(c("b", "c", "b", "c", "a", "b", "c")))
fit <- rpart(y ~ x, rows, control = rpart.control(cp = 0, minsplit = 2, minbucket = 1, xval = 0))
print(fit)
print(fit$cptable)
pruned <- prune(fit, cp = 0.13)
print(pruned)
