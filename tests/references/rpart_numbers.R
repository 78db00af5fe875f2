# SPDX-License-Identifier: BSD-3-Clause
# Regression trees of rpart (and one of classes), printed: Rscript rpart_numbers.R > rpart_numbers.txt
# It also writes the tables that the tests read: ../data/car_test_frame.csv and others.
suppressMessages(library(rpart))

write_table <- function(table, name) {
  heading <- sapply(names(table), function(column) {
    values <- table[[column]]
    if (is.factor(values)) paste0(column, ":", paste(levels(values), collapse = "|")) else column
  })
  file <- file(file.path("..", "data", paste0(name, ".csv")), "w")
  writeLines(paste(heading, collapse = ","), file)
  write.table(table, file, sep = ",", na = "", row.names = FALSE, col.names = FALSE, quote = FALSE)
  close(file)
}

number <- function(x) sprintf("%.15g", x)

show <- function(heading, fit) {
  cat("## ", heading, "\n", sep = "")
  cp <- fit$cptable
  for (i in seq_len(nrow(cp))) cat("cp", number(cp[i, "CP"]), cp[i, "nsplit"], number(cp[i, "rel error"]), "\n")
  frame <- fit$frame
  for (i in seq_len(nrow(frame)))
    cat("node", row.names(frame)[i], as.character(frame$var[i]), frame$n[i], number(frame$dev[i]),
        number(frame$yval[i]), number(frame$complexity[i]), "\n")
  at <- 0
  for (i in which(frame$var != "<leaf>")) {
    first <- at + 1
    last <- at + 1 + frame$ncompete[i] + frame$nsurrogate[i]
    for (k in first:last) {
      kind <- if (k == first) "split" else if (k <= first + frame$ncompete[i]) "competitor" else "surrogate"
      row <- fit$splits[k, ]
      cat(kind, row.names(frame)[i], rownames(fit$splits)[k], row["ncat"], number(row["improve"]),
          number(row["index"]), number(row["adj"]), "\n")
    }
    at <- last
  }
  cat("\n")
}

car <- car.test.frame
levels(car$Type) <- gsub(" ", "", levels(car$Type))
car <- car[, c("Price", "Country", "Reliability", "Mileage", "Type", "Weight", "Disp.", "HP")]
cars90 <- car90[, !(names(car90) %in% c("Rim", "Tires", "Model2"))]
cars90 <- cars90[!is.na(cars90$Price), ]
numeric_last <- function(table, target) table[, c(setdiff(names(table), target), target)]

plain <- function(table) {
  names(table) <- gsub("[^A-Za-z0-9]", "_", names(table))
  for (name in names(table)) if (is.factor(table[[name]])) {
    table[[name]] <- factor(table[[name]], ordered = FALSE)
    levels(table[[name]]) <- gsub("[,:| ]", "_", levels(table[[name]]))
    levels(table[[name]])[levels(table[[name]]) == ""] <- "none"
  }
  table
}

tables <- list(
  car_test_frame = list(plain(numeric_last(car, "Mileage")), "Mileage"),
  car90 = list(plain(numeric_last(cars90, "Price")), "Price"),
  cu_summary = list(plain(numeric_last(cu.summary[!is.na(cu.summary$Price), ], "Price")), "Price"),
  solder = list(plain(numeric_last(solder, "skips")), "skips")
)
for (name in names(tables)) {
  table <- tables[[name]][[1]]
  target <- tables[[name]][[2]]
  write_table(table, name)
  formula <- as.formula(paste(target, "~ ."))
  set.seed(1)
  show(name, rpart(formula, table, method = "anova", control = rpart.control(xval = 0)))
  show(paste(name, "full"), rpart(formula, table, method = "anova", control = rpart.control(
    xval = 0, minsplit = 10, minbucket = 5, cp = 0, maxcompete = 0)))
}
show("car_test_frame by weight", rpart(Mileage ~ Weight, tables$car_test_frame[[1]], method = "anova",
  control = rpart.control(xval = 0)))
weights <- rep(1:3, length.out = nrow(tables$solder[[1]]))
show("solder weighted", rpart(skips ~ ., tables$solder[[1]], weights = weights, method = "anova",
  control = rpart.control(xval = 0)))

# A tree of classes, whose deviances are numbers of errors.
progress <- stagec[, c("age", "eet", "g2", "grade", "gleason", "ploidy")]
progress$progstat <- factor(stagec$pgstat, levels = 0:1, labels = c("No", "Prog"))
show("stagec classes", rpart(progstat ~ ., progress, method = "class", control = rpart.control(xval = 0)))

# The errors of cross-validation with given folds: five, in turn.
folds <- rep(1:5, length.out = nrow(tables$solder[[1]]))
fit <- rpart(skips ~ ., tables$solder[[1]], method = "anova", control = rpart.control(xval = folds))
cat("## solder folds\n")
for (i in seq_len(nrow(fit$cptable))) cat("cp", sapply(fit$cptable[i, ], number), "\n")
